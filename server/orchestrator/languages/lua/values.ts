import { isInt64 } from '../../../platform/json-text.ts';
import type { JsonValue } from '../../core/index.ts';
import { type LuaHost, LuaType, REGISTRY } from './host.ts';

/**
 * JSON values into Lua and back, through the C API with raw access only: a script can never reach a JavaScript object,
 * and no metamethod runs while a value is read. JSON null is the sentinel `json.null` inside tables, so that arrays
 * keep their positions and objects their members.
 */

/** The error for a value that cannot cross. The message is for the script's author and is raised as a Lua error. */
export class ValueError extends Error {}

const DEEPEST = 100;
const encoder = new TextEncoder();
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
const SCRATCH = 8 * 1024;
const MAX_LUA_INTEGER = 2n ** 63n - 1n;
/** One more digit than an unsigned 64-bit integer has. */
const MAX_DIGITS = 21;
const TOO_LARGE = 'the value is larger than 1 MiB as JSON';

export class LuaValues {
  readonly #host: LuaHost;
  /** A buffer for short strings, and a word for lengths. Both are allocated once, before the snapshot. */
  readonly #scratch: number;
  readonly #word: number;
  /** Registry reference of the metatable that marks arrays. */
  readonly #arrayMark: bigint;
  /**
   * The registry reference of the metatable that marks integers between 2^63 and 2^64, which no Lua integer can hold.
   */
  readonly #unsignedMark: bigint;
  readonly #textMode: number;

  constructor(host: LuaHost, L: number) {
    this.#host = host;
    this.#scratch = host.api.malloc(SCRATCH);
    this.#word = host.api.malloc(8);
    host.api.lua_createtable(L, 0, 0);
    this.#arrayMark = BigInt(host.api.luaL_ref(L, REGISTRY));
    host.api.lua_createtable(L, 0, 0);
    this.#unsignedMark = BigInt(host.api.luaL_ref(L, REGISTRY));
    this.#textMode = this.cString('t');
  }

  /**
   * Writes UTF-8 text into the memory and calls `use` with its address. Throws ValueError if the memory is too small.
   */
  #withText<T>(text: string, use: (at: number, size: number) => T): T {
    const { api, bytes } = this.#host;
    if (text.length <= 24) {
      // For keys and short values, concatenation is three times as fast as a call of the encoder.
      const memory = bytes();
      let size = 0;
      while (size < text.length && text.charCodeAt(size) < 0x80) memory[this.#scratch + size] = text.charCodeAt(size++);
      if (size === text.length) return use(this.#scratch, size);
    }
    if (text.length * 3 <= SCRATCH) {
      const { written } = encoder.encodeInto(text, bytes().subarray(this.#scratch, this.#scratch + SCRATCH));
      return use(this.#scratch, written);
    }
    const encoded = encoder.encode(text);
    const at = api.malloc(encoded.length + 1);
    if (at === 0) throw new ValueError('not enough memory');
    bytes().set(encoded, at);
    const result = use(at, encoded.length);
    // A Lua error skips this line. Restoring the next snapshot then releases the block.
    api.free(at);
    return result;
  }

  pushString(L: number, text: string): void {
    this.#withText(text, (at, size) => this.#host.api.lua_pushlstring(L, at, size));
  }

  /** Makes a permanent zero-terminated copy, for names that are used repeatedly. Called before the snapshot. */
  cString(text: string): number {
    const encoded = encoder.encode(`${text}\0`);
    const at = this.#host.api.malloc(encoded.length);
    this.#host.bytes().set(encoded, at);
    return at;
  }

  /** Compiles text (never bytecode) and leaves the function or the error message on the stack. Returns Lua's status. */
  load(L: number, text: string, chunkName: number): number {
    return this.#withText(text, (at, size) => this.#host.api.luaL_loadbufferx(L, at, size, chunkName, this.#textMode));
  }

  pushNull(L: number): void {
    this.#host.api.lua_pushlightuserdata(L, 0);
  }

  /** Pushes the metatable of large unsigned integers, which the prelude fills. */
  pushUnsignedMark(L: number): void {
    this.#host.api.lua_rawgeti(L, REGISTRY, this.#unsignedMark);
  }

  markArray(L: number): void {
    const { api } = this.#host;
    api.lua_rawgeti(L, REGISTRY, this.#arrayMark);
    api.lua_setmetatable(L, -2);
  }

  /** Pushes a JSON value. Throws ValueError. */
  push(L: number, value: JsonValue, depth = 0): void {
    const { api } = this.#host;
    switch (typeof value) {
      case 'string':
        this.pushString(L, value);
        return;
      case 'number':
        if (Number.isSafeInteger(value)) api.lua_pushinteger(L, BigInt(value));
        else api.lua_pushnumber(L, value);
        return;
      case 'bigint':
        if (value <= MAX_LUA_INTEGER) api.lua_pushinteger(L, value);
        else this.#pushUnsigned(L, value);
        return;
      case 'boolean':
        api.lua_pushboolean(L, value ? 1 : 0);
        return;
      default:
        if (value === null) this.pushNull(L);
        else this.#pushTable(L, value, depth);
    }
  }

  /** Pushes an integer above 2^63 - 1 as a table of its digits, which can be compared, written and passed on. */
  #pushUnsigned(L: number, value: bigint): void {
    const { api } = this.#host;
    api.luaL_checkstack(L, 3, 0);
    api.lua_createtable(L, 1, 0);
    this.pushString(L, String(value));
    api.lua_rawseti(L, -2, 1n);
    this.pushUnsignedMark(L);
    api.lua_setmetatable(L, -2);
  }

  #pushTable(L: number, value: JsonValue[] | { [key: string]: JsonValue }, depth: number): void {
    const { api } = this.#host;
    if (depth >= DEEPEST) throw new ValueError(`a value is nested more than ${DEEPEST} levels deep`);
    api.luaL_checkstack(L, 4, 0);
    if (Array.isArray(value)) {
      api.lua_createtable(L, value.length, 0);
      this.markArray(L);
      for (let index = 0; index < value.length; index++) {
        this.push(L, value[index] ?? null, depth + 1);
        api.lua_rawseti(L, -2, BigInt(index + 1));
      }
      return;
    }
    const keys = Object.keys(value);
    api.lua_createtable(L, 0, keys.length);
    for (const key of keys) {
      this.pushString(L, key);
      this.push(L, value[key] ?? null, depth + 1);
      api.lua_rawset(L, -3);
    }
  }

  /** Returns the bytes of the string at `index`, which must be a string (a number would be converted in place). */
  #stringBytes(L: number, index: number): Uint8Array {
    const at = this.#host.api.lua_tolstring(L, index, this.#word);
    return this.#host.bytes().subarray(at, at + this.#host.words().getUint32(this.#word, true));
  }

  /** Returns a copy of the bytes of the string at `index`. Throws ValueError for any other value. */
  readBytes(L: number, index: number, name: string): Buffer {
    if (this.#host.api.lua_type(L, index) !== LuaType.string) throw new ValueError(`${name} takes a string`);
    return Buffer.from(this.#stringBytes(L, index));
  }

  /** Pushes a string of any bytes. Throws ValueError if the memory is too small. */
  pushBytes(L: number, bytes: Uint8Array): void {
    const { api } = this.#host;
    const at = api.malloc(bytes.length + 1);
    if (at === 0) throw new ValueError('not enough memory');
    this.#host.bytes().set(bytes, at);
    api.lua_pushlstring(L, at, bytes.length);
    // A Lua error skips this line. Restoring the next snapshot then releases the block.
    api.free(at);
  }

  /**
   * Returns the first `limit` bytes of the string at `index`, with U+FFFD for bytes that are not UTF-8 or cannot be
   * stored.
   */
  readText(L: number, index: number, limit: number): string {
    const bytes = this.#stringBytes(L, index);
    let end = Math.min(bytes.length, limit);
    // Does not cut within a character.
    while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80 && limit - end < 4) end--;
    return lenient.decode(bytes.subarray(0, end)).replaceAll('\0', '\uFFFD');
  }

  #readStrict(L: number, index: number, writer: Writer): string {
    if (this.#host.api.lua_rawlen(L, index) > writer.left) throw new ValueError(TOO_LARGE);
    let text: string;
    try {
      text = strict.decode(this.#stringBytes(L, index));
    } catch {
      throw new ValueError('a string is not valid UTF-8: use base64.encode or hex.encode for bytes');
    }
    if (text.includes('\0'))
      throw new ValueError('a string contains a NUL character: use base64.encode or hex.encode for bytes');
    return text;
  }

  /**
   * Returns the first `limit` bytes of `tostring(value)` of the value at `index`. It runs metamethods, so call it only
   * in a protected call.
   */
  toText(L: number, index: number, limit: number): string {
    this.#host.api.luaL_tolstring(L, index, 0);
    const text = this.readText(L, -1, limit);
    this.#host.api.lua_settop(L, -2);
    return text;
  }

  /** Returns the value at `index` as JSON text of at most `limit` bytes. Throws ValueError. */
  encode(L: number, index: number, limit: number): string {
    const writer = { out: [] as string[], left: limit, path: [] as number[] };
    this.#write(L, this.#host.api.lua_absindex(L, index), writer);
    return writer.out.join('');
  }

  #emit(writer: Writer, text: string): void {
    // UTF-16 units are subtracted first: counting them is cheap, and there are never more of them than bytes.
    writer.left -= text.length;
    if (writer.left >= 0 && text.length > 0) writer.left -= Buffer.byteLength(text) - text.length;
    if (writer.left < 0) throw new ValueError(TOO_LARGE);
    writer.out.push(text);
  }

  #write(L: number, index: number, writer: Writer): void {
    const { api } = this.#host;
    if (api.lua_type(L, index) === LuaType.table) {
      if (this.#hasMark(L, index, this.#unsignedMark)) this.#emit(writer, this.#digits(L, index));
      else this.#table(L, index, writer);
    } else this.#emit(writer, this.#scalar(L, index, writer));
  }

  #scalar(L: number, index: number, writer: Writer): string {
    const { api } = this.#host;
    const type = api.lua_type(L, index);
    switch (type) {
      case LuaType.nil:
        return 'null';
      case LuaType.boolean:
        return api.lua_toboolean(L, index) ? 'true' : 'false';
      case LuaType.number:
        return this.#number(L, index);
      case LuaType.string:
        return JSON.stringify(this.#readStrict(L, index, writer));
      case LuaType.lightUserdata:
        if (api.lua_touserdata(L, index) === 0) return 'null';
        throw new ValueError('a userdata cannot be JSON');
      case LuaType.function:
        throw new ValueError('a function cannot be JSON');
      case LuaType.coroutine:
        throw new ValueError('a coroutine cannot be JSON');
      default:
        throw new ValueError('this value cannot be JSON');
    }
  }

  #number(L: number, index: number): string {
    const { api } = this.#host;
    if (api.lua_isinteger(L, index)) {
      return String(api.lua_tointegerx(L, index, 0));
    }
    const float = api.lua_tonumberx(L, index, 0);
    if (!Number.isFinite(float)) throw new ValueError(`${Number.isNaN(float) ? 'NaN' : 'infinity'} cannot be JSON`);
    return JSON.stringify(float);
  }

  /**
   * Returns the digits of a large unsigned integer. They are checked, because a script can change the table with
   * `rawset`.
   */
  #digits(L: number, index: number): string {
    const { api } = this.#host;
    const isText = api.lua_rawgeti(L, index, 1n) === LuaType.string;
    const digits = isText ? this.readText(L, -1, MAX_DIGITS) : '';
    api.lua_settop(L, -2);
    if (!/^[1-9]\d{18,19}$/.test(digits) || !isInt64(BigInt(digits)))
      throw new ValueError('an unsigned integer was changed and is no number');
    return digits;
  }

  #hasMark(L: number, index: number, mark: bigint): boolean {
    const { api } = this.#host;
    if (!api.lua_getmetatable(L, index)) return false;
    api.lua_rawgeti(L, REGISTRY, mark);
    const marked = api.lua_rawequal(L, -1, -2) !== 0;
    api.lua_settop(L, -3);
    return marked;
  }

  /** Returns the length of the table as an array, or its keys as an object. */
  #shape(L: number, index: number, writer: Writer): { length: number } | { keys: string[] } {
    const { api } = this.#host;
    const marked = this.#hasMark(L, index, this.#arrayMark);
    const keys: string[] = [];
    let count = 0;
    let largest = 0n;
    api.lua_pushnil(L);
    while (api.lua_next(L, index)) {
      api.lua_settop(L, -2); // the value; the key stays for lua_next
      // Each element takes at least two bytes of the text.
      if (count + keys.length > writer.left) throw new ValueError(TOO_LARGE);
      if (api.lua_type(L, -1) === LuaType.string) keys.push(this.#readStrict(L, -1, writer));
      else if (api.lua_isinteger(L, -1)) {
        count++;
        const key = api.lua_tointegerx(L, -1, 0);
        if (key < 1n)
          throw new ValueError(`a table has the index ${key}: arrays start at 1, other keys must be strings`);
        if (key > largest) largest = key;
      } else throw new ValueError('a table has a key that is neither a string nor an integer');
    }
    if (count > 0 && keys.length > 0) throw new ValueError('a table has both indexes and names');
    if (largest !== BigInt(count)) throw new ValueError('an array has holes (nil): use json.null, or string keys');
    if (marked && keys.length > 0) throw new ValueError('a json.array has names');
    return count > 0 || marked ? { length: count } : { keys: keys.sort() };
  }

  #table(L: number, index: number, writer: Writer): void {
    const { api } = this.#host;
    const pointer = api.lua_topointer(L, index);
    if (writer.path.includes(pointer)) throw new ValueError('a table contains itself');
    if (writer.path.length >= DEEPEST) throw new ValueError(`a table is nested more than ${DEEPEST} levels deep`);
    writer.path.push(pointer);
    api.luaL_checkstack(L, 6, 0);
    const shape = this.#shape(L, index, writer);
    if ('length' in shape) {
      for (let item = 1; item <= shape.length; item++) {
        this.#emit(writer, item === 1 ? '[' : ',');
        api.lua_rawgeti(L, index, BigInt(item));
        this.#write(L, api.lua_gettop(L), writer);
        api.lua_settop(L, -2);
      }
      this.#emit(writer, shape.length === 0 ? '[]' : ']');
    } else {
      for (const [position, key] of shape.keys.entries()) {
        this.#emit(writer, `${position === 0 ? '{' : ','}${JSON.stringify(key)}:`);
        this.pushString(L, key);
        api.lua_rawget(L, index);
        this.#write(L, api.lua_gettop(L), writer);
        api.lua_settop(L, -2);
      }
      this.#emit(writer, shape.keys.length === 0 ? '{}' : '}');
    }
    writer.path.pop();
  }
}

type Writer = { out: string[]; left: number; path: number[] };
