import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export type ReceivedMail = { from: string; to: string; text: string };

export type TestMailServer = {
  /** The value for BATON_SMTP_URL. */
  url: string;
  received: ReceivedMail[];
  /** Resolves with the next mail to this address that the test has not received yet. */
  next(to: string): Promise<ReceivedMail>;
  /** Refuses every message from now on. */
  refuse(): void;
  /** Accepts messages again. */
  accept(): void;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Decodes the body of a message, which nodemailer writes as plain text or quoted-printable. */
function bodyOf(message: string): string {
  const at = message.indexOf('\r\n\r\n');
  const body = message.slice(at + 4);
  if (!/^content-transfer-encoding: quoted-printable/im.test(message.slice(0, at))) return body;
  return body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Starts a mail server on this machine that implements as much of RFC 5321 as a client needs to deliver a message. */
export async function startTestMailServer(): Promise<TestMailServer> {
  const received: ReceivedMail[] = [];
  const taken = new Set<ReceivedMail>();
  const waiting = new Set<() => void>();
  const sockets = new Set<Socket>();
  let refusing = false;
  const deliver = (mail: ReceivedMail) => {
    received.push(mail);
    for (const wake of waiting) wake();
  };
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    talk(socket, deliver, () => refusing);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    next: to =>
      new Promise(resolve => {
        const look = () => {
          const mail = received.find(mail => mail.to === to && !taken.has(mail));
          if (!mail) return void waiting.add(look);
          waiting.delete(look);
          taken.add(mail);
          resolve(mail);
        };
        look();
      }),
    refuse: () => {
      refusing = true;
    },
    accept: () => {
      refusing = false;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function talk(socket: Socket, deliver: (mail: ReceivedMail) => void, refusing: () => boolean): void {
  let buffer = '';
  let inData = false;
  let from = '';
  let to = '';
  const sendLine = (line: string) => void socket.write(`${line}\r\n`);
  const command = (line: string) => {
    const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'MAIL') from = address;
    if (verb === 'RCPT') to = address;
    if (verb === 'DATA') {
      if (refusing()) return sendLine('554 no');
      inData = true;
      return sendLine('354 go on');
    }
    if (verb === 'QUIT') return void socket.end('221 bye\r\n');
    sendLine('250 ok');
  };
  sendLine('220 test');
  socket.on('data', chunk => {
    buffer += chunk.toString('latin1');
    for (;;) {
      const end = inData ? '\r\n.\r\n' : '\r\n';
      const at = buffer.indexOf(end);
      if (at < 0) return;
      const part = buffer.slice(0, at);
      buffer = buffer.slice(at + end.length);
      if (!inData) {
        command(part);
        continue;
      }
      inData = false;
      deliver({ from, to, text: bodyOf(part.replace(/^\.\./gm, '.')) });
      sendLine('250 ok');
    }
  });
}
