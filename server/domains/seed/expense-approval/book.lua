-- What accounting gets: who decided, on which cost centre, and the claim split into net and VAT.
local claim = steps.assess.result
local person = steps.manager_approval.result
local decision = person or steps.auto_approve.result

return {
  payee = input.employee,
  cost_centre = decision.cost_centre or 'general',
  gross = claim.total,
  vat = claim.vat,
  net = math.floor((claim.total - claim.vat) * 100 + 0.5) / 100,
  approved_by = person and person.completed_by or 'policy',
}
