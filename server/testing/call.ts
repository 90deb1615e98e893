import { parseObject } from '../api/input.ts';
import { invoke } from '../api/invoke.ts';
import { createRegistry } from '../api/registry.ts';
import type { Context, Principal } from '../operation/context.ts';
import { featuresOf } from '../operation/features.ts';
import type { AnyOperation } from '../operation/operation.ts';
import type { Services } from '../operation/services.ts';
import { newId } from '../platform/ids.ts';

export type Call<Operations extends readonly AnyOperation[]> = (
  principal: Principal | null,
  name: Operations[number]['name'],
  input?: unknown,
  about?: Pick<Context, 'clientAddress'>,
) => Promise<unknown>;

/**
 * Calls operations as every surface does (role, scope, parsing, output check), without the transport. Rejects with the
 * AppError that a surface would translate.
 */
export function createCall<const Operations extends readonly AnyOperation[]>(
  services: Services,
  operations: Operations,
): Call<Operations> {
  const registry = createRegistry(operations);
  return async (principal, name, input = {}, about = {}) => {
    const entry = registry.byName.get(name);
    if (!entry) throw new Error(`There is no operation ${name}.`);
    const { output } = await invoke(
      { services, features: featuresOf(services.config), checkOutput: true },
      {
        ...about,
        entry,
        principal,
        requestId: newId(),
        surface: 'rest',
        header: () => undefined,
        input: () => parseObject(entry, input),
      },
    );
    return output;
  };
}
