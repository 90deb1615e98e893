/**
 * Runs once, before the snapshot, and removes what scripts may not have. Scripts cannot reach the locals below, since
 * there is no debug library. `load` compiles text only: bytecode can crash the interpreter.
 */
export const PRELUDE = `
local host_log, host_encode, host_decode, host_array, null, unsigned = ...
local load, select, error, randomseed, collectgarbage = load, select, error, math.randomseed, collectgarbage
local clock, date, time = os.clock, os.date, os.time
function _G.load(chunk, name, mode, ...)
  if select('#', ...) > 0 then return load(chunk, name, 't', (...)) end
  return load(chunk, name, 't')
end
function _G.collectgarbage(what)
  if what == nil or what == 'collect' or what == 'step' then return 0 end
  if what == 'count' then return collectgarbage('count') end
  error("collectgarbage only answers 'count' here", 2)
end
os = { clock = clock, date = date, time = time }
io, package, require, debug, dofile, loadfile, warn, string.dump = nil
log, print = host_log, host_log
json = { encode = host_encode, decode = host_decode, array = host_array, null = null }

-- An integer between 2^63 and 2^64 is a table of its digits with this metatable: values.ts makes and reads it.
local rawget, getmetatable, type, tostring = rawget, getmetatable, type, tostring
local function digits(value)
  if type(value) == 'table' and getmetatable(value) == false then return rawget(value, 1) end
end
local function less(a, b)
  local of_a, of_b = digits(a), digits(b)
  if of_a and of_b then return of_a < of_b end
  -- Every Lua integer is smaller; a float is compared as a float.
  return (of_a and of_a + 0.0 or a) < (of_b and of_b + 0.0 or b)
end
local function read_only() error('an unsigned integer has no fields', 2) end
unsigned.__name = '64-bit unsigned integer'
unsigned.__metatable = false
unsigned.__tostring = digits
unsigned.__eq = function(a, b) return digits(a) == digits(b) end
unsigned.__lt = less
unsigned.__le = function(a, b) return digits(a) == digits(b) and digits(a) ~= nil or less(a, b) end
unsigned.__concat = function(a, b) return tostring(a) .. tostring(b) end
unsigned.__index = read_only
unsigned.__newindex = read_only
unsigned.__len = read_only
return randomseed
`;
