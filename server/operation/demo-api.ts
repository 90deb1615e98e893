import { ownAddresses } from './demo-address.ts';

/** The path of the demo API in this process. */
export const demoApiPath = '/demo/api';

/** An order of the demo API. */
export type DemoOrder = { id: string; customer: string; amount: number; currency: 'EUR'; address: string | null };

/** All orders of the demo API: one is large, and one cannot be shipped. */
export const demoOrders: readonly DemoOrder[] = [
  { id: '1001', customer: 'Rosa & Sons', amount: 120, currency: 'EUR', address: 'Elm Street 4, Lund' },
  { id: '1002', customer: 'Lindgren & Co', amount: 64.5, currency: 'EUR', address: 'Harbour Road 11, Malmö' },
  { id: '1003', customer: 'Northwind Books', amount: 1840, currency: 'EUR', address: 'Mill Lane 2, Aarhus' },
  { id: '1004', customer: 'Studio Ada', amount: 35, currency: 'EUR', address: null },
  { id: '1005', customer: 'Kestrel Bikes', amount: 410, currency: 'EUR', address: 'Station Square 9, Gdańsk' },
  { id: '1006', customer: 'Café Miró', amount: 99.9, currency: 'EUR', address: 'Rue Haute 31, Namur' },
];

/**
 * Returns the exact addresses of the demo API, which may be called although they are not public. Its orders never
 * change, so all its paths can be listed: no other path can match by a prefix or a pattern.
 */
export function demoApiAddresses(http: Parameters<typeof ownAddresses>[0]): string[] {
  const ofOrders = demoOrders.flatMap(({ id }) => [`/orders/${id}`, `/orders/${id}/shipments`]);
  return ['/orders', ...ofOrders].flatMap(path => ownAddresses(http, `${demoApiPath}${path}`));
}
