-- What the employee is told.
local person = steps.manager_approval.result
return {
  payee = input.employee,
  declined_by = person.completed_by,
  reason = person.comment or 'No reason was given.',
}
