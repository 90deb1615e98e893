/** Returns the JSON texts of the messages in the data of one event. */
export type ReadEvent = (data: string) => string[];

/**
 * Rewrites the messages in an event stream (HTML Standard, 9.2.6). It takes complete lines, and passes an event on once it is
 * complete: its id and retry time as they are, its data as `read` returns it. Events that transports send for themselves, such as
 * `endpoint`, stay as they are.
 */
export class EventMessages {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #read: ReadEvent;
  #data: string[] = [];
  #fields: string[] = [];
  #name = '';
  #isFirst = true;
  /** Whether the previous chunk ended with a carriage return: a line feed that follows belongs to the same line end. */
  #endedWithReturn = false;

  constructor(read: ReadEvent) {
    this.#read = read;
  }

  /** Returns the events that are complete with these lines. */
  take(lines: Uint8Array): Uint8Array {
    return Buffer.from(this.#takeText(this.#decoder.decode(lines)));
  }

  /** Returns the last event, also if its end is missing: some servers close the stream without the empty line. */
  end(rest: Uint8Array): Uint8Array {
    const last = this.#decoder.decode(rest);
    return Buffer.from(this.#takeText(last === '' ? '\n' : `${last}\n\n`));
  }

  #takeText(text: string): string {
    if (text === '') return '';
    let lines = text;
    if (this.#isFirst && lines.startsWith('\ufeff')) lines = lines.slice(1);
    this.#isFirst = false;
    if (this.#endedWithReturn && lines.startsWith('\n')) lines = lines.slice(1);
    this.#endedWithReturn = lines.endsWith('\r');
    if (lines === '') return '';
    let out = '';
    for (const line of lines.replace(/(\r\n|\n|\r)$/, '').split(/\r\n|\n|\r/)) out += this.#line(line);
    return out;
  }

  #line(line: string): string {
    if (line === '') return this.#dispatch();
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#name = value;
    else if (name === 'id' || name === 'retry') this.#fields.push(`${name}: ${value}\n`);
    return '';
  }

  #dispatch(): string {
    const [data, fields, name] = [this.#data.join('\n'), this.#fields.join(''), this.#name];
    const hasData = this.#data.length > 0;
    this.#data = [];
    this.#fields = [];
    this.#name = '';
    if (name === 'endpoint') return `event: ${name}\n${fields}${dataLines(data)}\n`;
    const messages = data.trim() === '' ? [] : this.#read(data);
    if (messages.length > 0) return messages.map((one, at) => `${at === 0 ? fields : ''}data: ${one}\n\n`).join('');
    if (fields === '') return '';
    // An event without a message still says from where the stream can be resumed.
    return `${fields}${hasData ? 'data: \n' : ''}\n`;
  }
}

const dataLines = (data: string): string =>
  data
    .split('\n')
    .map(line => `data: ${line}\n`)
    .join('');
