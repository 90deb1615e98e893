import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Lua 5.4 as WebAssembly, instantiated without wasmoon's JavaScript. The binary comes from the wasmoon package. Its
 * JavaScript would bring proxies into Lua, a file system, and `os.execute` through child_process. Here a script can
 * call only the twenty-odd functions below, and the only fact about the outside that they reveal is the time.
 */

/** The C API as the binary exports it. Pointers and sizes are plain numbers. */
export type LuaApi = {
  memory: WebAssembly.Memory;
  __indirect_function_table: WebAssembly.Table;
  __wasm_call_ctors(): void;
  emscripten_stack_init(): void;
  emscripten_stack_get_base(): number;
  emscripten_stack_get_end(): number;
  stackSave(): number;
  stackRestore(pointer: number): void;
  setThrew(threw: number, value: number): void;
  malloc(size: number): number;
  free(pointer: number): void;
  luaL_newstate(): number;
  luaL_openlibs(L: number): void;
  luaL_loadbufferx(L: number, text: number, size: number, name: number, mode: number): number;
  luaL_tolstring(L: number, index: number, size: number): number;
  luaL_checkstack(L: number, slots: number, message: number): void;
  luaL_ref(L: number, table: number): number;
  luaL_where(L: number, level: number): void;
  lua_absindex(L: number, index: number): number;
  lua_checkstack(L: number, slots: number): number;
  lua_callk(L: number, args: number, results: number, context: number, k: number): void;
  lua_concat(L: number, n: number): void;
  lua_createtable(L: number, items: number, fields: number): void;
  lua_error(L: number): number;
  lua_getglobal(L: number, name: number): number;
  lua_getmetatable(L: number, index: number): number;
  lua_gettop(L: number): number;
  lua_isinteger(L: number, index: number): number;
  lua_next(L: number, index: number): number;
  lua_pcallk(L: number, args: number, results: number, handler: number, context: number, k: number): number;
  lua_pushboolean(L: number, value: number): void;
  lua_pushcclosure(L: number, fn: number, upvalues: number): void;
  lua_pushinteger(L: number, value: bigint): void;
  lua_pushlightuserdata(L: number, pointer: number): void;
  lua_pushlstring(L: number, text: number, size: number): number;
  lua_pushnil(L: number): void;
  lua_pushnumber(L: number, value: number): void;
  lua_pushvalue(L: number, index: number): void;
  lua_rawequal(L: number, a: number, b: number): number;
  lua_rawget(L: number, index: number): number;
  lua_rawgeti(L: number, index: number, n: bigint): number;
  lua_rawlen(L: number, index: number): number;
  lua_rawset(L: number, index: number): void;
  lua_rawseti(L: number, index: number, n: bigint): void;
  lua_setglobal(L: number, name: number): void;
  lua_setmetatable(L: number, index: number): number;
  lua_settop(L: number, index: number): void;
  lua_toboolean(L: number, index: number): number;
  lua_tointegerx(L: number, index: number, isNumber: number): bigint;
  lua_tolstring(L: number, index: number, size: number): number;
  lua_tonumberx(L: number, index: number, isNumber: number): number;
  lua_topointer(L: number, index: number): number;
  lua_touserdata(L: number, index: number): number;
  lua_type(L: number, index: number): number;
};

export const REGISTRY = -1_001_000; // LUA_REGISTRYINDEX: -LUAI_MAXSTACK - 1000
export const LuaType = {
  nil: 0,
  boolean: 1,
  lightUserdata: 2,
  number: 3,
  string: 4,
  table: 5,
  function: 6,
  coroutine: 8,
} as const;
export const LuaStatus = { ok: 0, runtime: 2, syntax: 3, memory: 4, handler: 5 } as const;

/** Thrown for an import that no script may use. The instance is not used again. */
class LuaForbidden extends Error {}

const PAGE = 65_536;

export type LuaHost = {
  readonly api: LuaApi;
  /** Returns a view of the current memory. Do not keep it across calls into Lua. */
  bytes(): Uint8Array;
  words(): DataView;
  /** Registers a C function `(L) => number of results` and returns its pointer. */
  addFunction(fn: (L: number) => number): number;
};

/** Compiles the binary. A WebAssembly.Module can be sent to other threads, so one compilation serves the whole pool. */
export function compileLua(): WebAssembly.Module {
  const entry = createRequire(import.meta.url).resolve('wasmoon');
  return new WebAssembly.Module(readFileSync(join(dirname(entry), 'glue.wasm')));
}

type Tm = {
  sec: number;
  min: number;
  hour: number;
  day: number;
  month: number;
  year: number;
  weekday: number;
  yearday: number;
};

/** Writes a struct tm in UTC: a script must not depend on the server's time zone. */
function writeTm(words: DataView, at: number, date: Date): void {
  const fields = [
    date.getUTCSeconds(),
    date.getUTCMinutes(),
    date.getUTCHours(),
    date.getUTCDate(),
    date.getUTCMonth(),
    date.getUTCFullYear() - 1900,
    date.getUTCDay(),
    Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000),
    0,
    0,
  ];
  for (const [index, value] of fields.entries()) words.setInt32(at + index * 4, value, true);
}

function readTm(words: DataView, at: number): Tm {
  const field = (index: number) => words.getInt32(at + index * 4, true);
  return {
    sec: field(0),
    min: field(1),
    hour: field(2),
    day: field(3),
    month: field(4),
    year: field(5) + 1900,
    weekday: field(6),
    yearday: field(7),
  };
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const two = (n: number) => String(n).padStart(2, '0');

/** Returns the ISO 8601 week and its year. */
function isoWeek(tm: Tm): { week: number; year: number } {
  const thursday = new Date(Date.UTC(tm.year, tm.month, tm.day + 4 - (tm.weekday || 7)));
  const year = thursday.getUTCFullYear();
  return { week: 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / 604_800_000), year };
}

const timeFormats: Record<string, (tm: Tm) => string> = {
  a: tm => (DAYS[tm.weekday] ?? '').slice(0, 3),
  A: tm => DAYS[tm.weekday] ?? '',
  b: tm => (MONTHS[tm.month] ?? '').slice(0, 3),
  h: tm => (MONTHS[tm.month] ?? '').slice(0, 3),
  B: tm => MONTHS[tm.month] ?? '',
  c: tm => strftime('%a %b %e %H:%M:%S %Y', tm),
  C: tm => two(Math.floor(tm.year / 100)),
  d: tm => two(tm.day),
  D: tm => strftime('%m/%d/%y', tm),
  e: tm => String(tm.day).padStart(2, ' '),
  F: tm => strftime('%Y-%m-%d', tm),
  g: tm => two(isoWeek(tm).year % 100),
  G: tm => String(isoWeek(tm).year),
  H: tm => two(tm.hour),
  I: tm => two(tm.hour % 12 || 12),
  j: tm => String(tm.yearday + 1).padStart(3, '0'),
  m: tm => two(tm.month + 1),
  M: tm => two(tm.min),
  n: () => '\n',
  p: tm => (tm.hour < 12 ? 'AM' : 'PM'),
  r: tm => strftime('%I:%M:%S %p', tm),
  R: tm => strftime('%H:%M', tm),
  S: tm => two(tm.sec),
  t: () => '\t',
  T: tm => strftime('%H:%M:%S', tm),
  u: tm => String(tm.weekday || 7),
  U: tm => two(Math.floor((tm.yearday + 7 - tm.weekday) / 7)),
  V: tm => two(isoWeek(tm).week),
  w: tm => String(tm.weekday),
  W: tm => two(Math.floor((tm.yearday + 7 - ((tm.weekday + 6) % 7)) / 7)),
  x: tm => strftime('%m/%d/%y', tm),
  X: tm => strftime('%H:%M:%S', tm),
  y: tm => two(((tm.year % 100) + 100) % 100),
  Y: tm => String(tm.year),
  z: () => '+0000',
  Z: () => 'UTC',
  '%': () => '%',
};

function strftime(format: string, tm: Tm): string {
  return format.replace(/%[EO]?(.)/gs, (_, letter: string) => timeFormats[letter]?.(tm) ?? '');
}

const cString = (bytes: Uint8Array, at: number): string =>
  new TextDecoder('latin1').decode(bytes.subarray(at, bytes.indexOf(0, at)));

/** The imports that tell the time. */
function timeImports(memory: () => Uint8Array, words: () => DataView): Record<string, (...args: never[]) => unknown> {
  const seconds = (value: bigint) => new Date(Number(value) * 1000);
  const breakDown = (time: bigint, at: number) => writeTm(words(), at, seconds(time));
  return {
    emscripten_date_now: () => Date.now(),
    _emscripten_get_now_is_monotonic: () => 1,
    _gmtime_js: breakDown,
    _localtime_js: breakDown,
    _mktime_js: (at: number) => {
      const tm = readTm(words(), at);
      const date = new Date(Date.UTC(tm.year, tm.month, tm.day, tm.hour, tm.min, tm.sec));
      if (Number.isNaN(date.getTime())) return -1n;
      // Date.UTC reads the years 0..99 as 1900..1999.
      if (tm.year >= 0 && tm.year < 100) date.setUTCFullYear(date.getUTCFullYear() - 1900);
      writeTm(words(), at, date);
      return BigInt(Math.floor(date.getTime() / 1000));
    },
    _tzset_js: (zone: number, daylight: number) => {
      words().setInt32(zone, 0, true);
      words().setInt32(daylight, 0, true);
    },
    strftime: (to: number, size: number, format: number, tm: number) => {
      const text = new TextEncoder().encode(strftime(cString(memory(), format), readTm(words(), tm)));
      if (text.length + 1 > size) return 0;
      memory().set(text, to);
      memory()[to + text.length] = 0;
      return text.length;
    },
  };
}

/** The imports that would access the outside. All of them throw. */
function deniedImports(): Record<string, () => never> {
  const names = [
    ...['abort', 'system', 'exit', '__syscall_openat', '__syscall_fcntl64', '__syscall_ioctl', '__syscall_dup3'],
    ...['__syscall_unlinkat', '__syscall_rmdir', '__syscall_renameat', '__syscall_readlinkat'],
    ...['fd_write', 'fd_read', 'fd_close', 'fd_seek'],
  ];
  return Object.fromEntries(
    names.map(name => [
      name,
      (): never => {
        throw new LuaForbidden(name);
      },
    ]),
  );
}

/** Wraps a JavaScript function for a WebAssembly table: a tiny module re-exports it as `(i32) -> i32`. */
function asWasmFunction(fn: (L: number) => number): unknown {
  // header; type (i32)->i32; import "e" "f" of that type; export it as "f"
  const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127];
  bytes.push(2, 7, 1, 1, 101, 1, 102, 0, 0, 7, 5, 1, 1, 102, 0, 0);
  return new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), { e: { f: fn } }).exports.f;
}

/**
 * Instantiates Lua with a heap of at most `limitBytes`. An allocation beyond the limit fails inside Lua as "not enough
 * memory".
 */
export function instantiateLua(module: WebAssembly.Module, limitBytes: number): LuaHost {
  let bytes = new Uint8Array();
  let words = new DataView(new ArrayBuffer(0));
  const refresh = () => {
    bytes = new Uint8Array(api.memory.buffer);
    words = new DataView(api.memory.buffer);
  };
  const imports = {
    ...deniedImports(),
    ...timeImports(
      () => bytes,
      () => words,
    ),
    // libc reads the environment at its start. The environment is empty.
    environ_sizes_get: (count: number, size: number) => {
      words.setUint32(count, 0, true);
      words.setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    _emscripten_throw_longjmp: () => {
      throw Number.POSITIVE_INFINITY; // what invoke_vii below recognises: only longjmp throws a number
    },
    invoke_vii: (fn: number, a: number, b: number) => {
      const stack = api.stackSave();
      try {
        api.__indirect_function_table.get(fn)(a, b);
      } catch (thrown) {
        if (typeof thrown !== 'number') throw thrown;
        api.stackRestore(stack);
        api.setThrew(1, 0);
      }
    },
    emscripten_resize_heap: (requested: number) => {
      const wanted = requested >>> 0;
      if (wanted > limit) return 0;
      // Grows by a quarter: growing is cheap, but every growth requires new views.
      const target = Math.min(limit, Math.max(wanted, bytes.length + (bytes.length >> 2)));
      api.memory.grow(Math.ceil((target - bytes.length) / PAGE));
      refresh();
      return 1;
    },
  };
  const instance = new WebAssembly.Instance(module, { env: imports, wasi_snapshot_preview1: imports });
  const api = instance.exports as LuaApi;
  refresh();
  api.emscripten_stack_init();
  // The heap begins at the base of the stack. Static data and the stack are below it and do not count for the script.
  const limit = Math.floor((api.emscripten_stack_get_base() + limitBytes) / PAGE) * PAGE;
  api.__wasm_call_ctors();
  return {
    api,
    bytes: () => bytes,
    words: () => words,
    addFunction(fn) {
      const table = api.__indirect_function_table;
      const index = table.grow(1);
      table.set(index, asWasmFunction(fn));
      return index;
    },
  };
}
