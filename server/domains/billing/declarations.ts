/** The declaration that the operations share which change what a workspace pays. */
export const billingChange = {
  tag: 'Billing',
  feature: 'billing',
  method: 'POST',
  status: 200,
  access: 'tenant_admin',
  scope: 'billing:manage',
  errors: [409, 503],
} as const;
