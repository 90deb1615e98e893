'use client';
import { useQuery } from '@tanstack/react-query';
import { actionLabel } from '../analytics/labels.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Card } from '../ui/card.tsx';
import { Credits } from '../ui/credits.tsx';
import { ErrorState } from '../ui/states.tsx';
import { SkeletonRows, Table, Td, THead, Th, Tr } from '../ui/table.tsx';

/** The price of each action. Tokens are priced per thousand, because the price of one token is too small to compare. */
export function ActionPrices({ description }: { description: string }) {
  const trpc = useTRPC();
  const prices = useQuery(trpc.billing_action_pricing.queryOptions(undefined, { staleTime: 60_000 }));
  return (
    <Card title="Prices" description={description} flush>
      {prices.isError && !prices.data ? (
        <ErrorState error={prices.error} onRetry={() => void prices.refetch()} />
      ) : (
        <Table label="Prices of actions">
          <THead>
            <Th>Action</Th>
            <Th className="text-right">Credits</Th>
            <Th>Each</Th>
          </THead>
          <tbody>
            {prices.data ? (
              prices.data.prices.map(({ action, microcredits, unit }) => {
                const tokens = unit === 'token';
                return (
                  <Tr key={action}>
                    <Td>{actionLabel(action)}</Td>
                    <Td className="text-right">
                      <Credits value={tokens ? microcredits * 1000 : microcredits} />
                    </Td>
                    <Td className="text-muted">{tokens ? '1,000 tokens' : unit}</Td>
                  </Tr>
                );
              })
            ) : (
              <SkeletonRows rows={4} columns={3} />
            )}
          </tbody>
        </Table>
      )}
    </Card>
  );
}
