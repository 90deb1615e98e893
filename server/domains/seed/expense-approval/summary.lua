-- One sentence for whoever reads the run later. The branch that was not taken has no result.
local claim, booking, refusal = steps.assess.result, steps.book.result, steps.decline.result
local currency = input.currency or 'EUR'
local what = string.format('%s %.2f for %s (%s)', currency, claim.total, input.employee, input.purpose or 'no purpose given')

if booking then
  return {
    outcome = 'paid',
    text = string.format('%s was approved by %s and booked on %s.', what, booking.approved_by, booking.cost_centre),
  }
end
return { outcome = 'declined', text = string.format('%s was declined by %s: %s', what, refusal.declined_by, refusal.reason) }
