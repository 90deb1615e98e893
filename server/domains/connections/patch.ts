import type { z } from 'zod';
import type { Context } from '../../api/context.ts';
import { invalid } from '../../platform/errors.ts';
import { whileHolding } from './exclusive.ts';
import { requireConnection } from './get.ts';
import { type Connection, flowProviders, maxCredentials, type PatchConnectionInput } from './schemas.ts';
import { change, readForWriting, replaceSecret } from './stored.ts';
import { toConnection } from './view.ts';

type Input = z.output<typeof PatchConnectionInput>;

/**
 * PATCH /v1/connections/{id}. A secret that is not named stays as it is, without being read by anybody. AppError 404; 422 where no
 * credential would be left, more than 32 would, or the provider's own flow keeps them; 503 when the secret store is away.
 */
export async function patchConnection(ctx: Context, input: Input): Promise<z.input<typeof Connection>> {
  const { services, principal } = ctx;
  // Existence comes before what is wrong with the body: another workspace's connection answers 404 to anything.
  const current = await requireConnection(ctx, input.id);
  const { display_name: name, credentials, config } = input;
  refuseManaged(current.provider, input);
  if (name === undefined && credentials === undefined && config === undefined) return toConnection(current);
  const ref = { tenantId: principal.tenantId, connectionId: input.id };
  await whileHolding(services, input.id, async () => {
    const stored = credentials && (await readForWriting(services, ref));
    if (credentials === undefined || !stored) {
      await change(services, await requireConnection(ctx, input.id), { name, config });
      return;
    }
    const values = merged(stored.document?.values ?? {}, credentials);
    await replaceSecret(services, stored, values, { name, config, status: 'active', lastError: null });
  });
  return toConnection(await requireConnection(ctx, input.id));
}

function merged(
  former: Readonly<Record<string, string>>,
  credentials: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const entries = Object.entries({ ...former, ...credentials });
  const values = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
  const count = Object.keys(values).length;
  if (count >= 1 && count <= maxCredentials) return values;
  throw invalid(`A connection holds 1 to ${maxCredentials} credentials.`, [
    { path: 'credentials', message: `would leave ${count}` },
  ]);
}

function refuseManaged(provider: string, { credentials, config }: Input): void {
  if (!flowProviders.includes(provider)) return;
  const details = Object.entries({ credentials, config }).flatMap(([path, value]) =>
    value === undefined ? [] : [{ path, message: 'is kept by the flow it was connected by' }],
  );
  if (details.length > 0)
    throw invalid(`This is a ${provider} connection: connect it again.`, details, 'connection_managed');
}
