-- Adds the items up, holds each against the limit of its category, and says how risky the whole claim is.
local limits = { meals = 80, travel = 600, lodging = 220, software = 300, other = 100 }
local vat_rates = { meals = 0.07, travel = 0.07, lodging = 0.07, software = 0.19, other = 0.19 }

local total, vat, findings, lines = 0, 0, {}, {}

local function find(item, what)
  findings[#findings + 1] = string.format('%s: %s', item.description or item.category, what)
end

for _, item in ipairs(input.items) do
  local category = limits[item.category] and item.category or 'other'
  local rate = vat_rates[category]
  total = total + item.amount
  vat = vat + item.amount - item.amount / (1 + rate)
  if category ~= item.category then find(item, 'unknown category, treated as "other"') end
  if item.amount > limits[category] then
    find(item, string.format('%.2f is over the %s limit of %d', item.amount, category, limits[category]))
  end
  if not item.receipt and item.amount > 25 then find(item, 'no receipt') end
  lines[#lines + 1] = string.format('| %s | %s | %.2f |', item.description or '', category, item.amount)
end

local function cents(amount) return math.floor(amount * 100 + 0.5) / 100 end

-- A finding weighs 25, every started thousand 10; from 50 on a claim is risky whatever its amount.
local score = math.min(100, #findings * 25 + math.ceil(total / 1000) * 10)
log(string.format('%d items, %d findings, score %d', #input.items, #findings, score))

return {
  total = cents(total),
  vat = cents(vat),
  risk_score = score,
  risky = score >= 50,
  findings = #findings > 0 and '- ' .. table.concat(findings, '\n- ') or 'None: every item is within its limit and has a receipt.',
  item_table = '| Item | Category | Amount |\n| --- | --- | ---: |\n' .. table.concat(lines, '\n'),
}
