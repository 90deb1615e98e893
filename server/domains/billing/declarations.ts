/** The fields that all operations that change a workspace's payments share. */
export const billingChange = {
  tag: 'Billing',
  feature: 'billing',
  method: 'POST',
  status: 200,
  access: 'tenant_admin',
  scope: 'billing:manage',
  errors: [409, 503],
} as const;
