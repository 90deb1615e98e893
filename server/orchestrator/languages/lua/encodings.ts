import { decodeBase64, decodeHex } from '../../../platform/encoded-bytes.ts';
import { zoneOffsetMs } from '../../../platform/time-zones.ts';
import type { LuaHost } from './host.ts';
import { type LuaValues, ValueError } from './values.ts';

/** A host function that scripts call by its name in the prelude. Returns the number of its results. */
type HostFunction = (L: number) => number;

/**
 * Returns the functions of `base64` and `hex`, and the function with which the prelude shifts `os.date` to a time zone.
 * Lua strings are bytes, so decoded bytes need not be text.
 */
export function encodingFunctions(host: LuaHost, values: LuaValues): HostFunction[] {
  const encoder =
    (encoding: 'base64' | 'hex'): HostFunction =>
    L => {
      values.pushBytes(L, Buffer.from(values.readBytes(L, 1, `${encoding}.encode`).toString(encoding), 'latin1'));
      return 1;
    };
  const decoder =
    (name: 'base64' | 'hex', decode: (text: string) => Buffer | null): HostFunction =>
    L => {
      const bytes = decode(values.readBytes(L, 1, `${name}.decode`).toString('latin1'));
      if (bytes === null) throw new ValueError(`${name}.decode: this is not ${name}`);
      values.pushBytes(L, bytes);
      return 1;
    };
  const zoneOffset: HostFunction = L => {
    const zone = values.readBytes(L, 1, 'the time zone of os.date').toString('latin1');
    const seconds = Number(host.api.lua_tointegerx(L, 2, 0));
    const offset = zoneOffsetMs(zone, seconds * 1000);
    if (offset === null) {
      throw new ValueError('os.date: a time zone is a name such as "Europe/Berlin" or an offset such as "+02:00"');
    }
    host.api.lua_pushinteger(L, BigInt(Math.round(offset / 1000)));
    return 1;
  };
  return [encoder('base64'), decoder('base64', decodeBase64), encoder('hex'), decoder('hex', decodeHex), zoneOffset];
}

/** Lua code that defines the API of the functions above. The prelude inserts it. */
export const ENCODINGS_PRELUDE = `
local base64_encode, base64_decode, hex_encode, hex_decode, zone_offset = ...
local date, time, type, error, gsub, sub, format = os.date, os.time, type, error, string.gsub, string.sub, string.format
base64 = { encode = base64_encode, decode = base64_decode }
hex = { encode = hex_encode, decode = hex_decode }
function os.date(pattern, at, zone)
  if zone == nil then return date(pattern, at) end
  if pattern == nil then pattern = '%c' end
  if at == nil then at = time() end
  if type(pattern) ~= 'string' then error('os.date takes a string as its format', 2) end
  if math.type(at) ~= 'integer' then error('os.date takes a whole number of seconds', 2) end
  local offset = zone_offset(zone, at)
  if sub(pattern, 1, 1) == '!' then pattern = sub(pattern, 2) end
  local minutes = (offset < 0 and -offset or offset) // 60
  local shown = {
    z = format('%s%02d%02d', offset < 0 and '-' or '+', minutes // 60, minutes % 60),
    Z = gsub(zone, '%%', '%%%%'),
  }
  return date('!' .. gsub(pattern, '%%(.)', function(letter) return shown[letter] end), at + offset)
end
`;
