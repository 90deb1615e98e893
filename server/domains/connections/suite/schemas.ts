import { z } from 'zod';
import { AnyObject, Id } from '../../../operation/wire.ts';
import { BoundedRecord } from '../../../platform/bounded-record.ts';
import { connectionStatuses, DisplayName, OauthCallback, Origins } from '../schemas.ts';

const ServiceName = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'is not the name of a service');
const MAX_SERVICES = 50;
const Service = z.strictObject({ name: z.string(), scopes: z.array(z.string()) });

export const SuiteConfigOutput = z.strictObject({ enabled: z.boolean(), services: z.array(Service) });
export const SuiteOauthUrlInput = z.strictObject({
  /** Default: all services; for a connection that is connected again, its present services. */
  services: z.array(ServiceName).max(MAX_SERVICES).optional(),
  /** Default: the account's email. */
  display_name: DisplayName.optional(),
  /** The connection to connect again, instead of creating another. */
  connection_id: Id.optional(),
  /** Default: the origin of the first use by the person who connects; for a connection that is connected again, its present origins. */
  origins: Origins.optional(),
});
export const SuiteCompleteInput = z.strictObject({ ...OauthCallback });
export const ByConnectionId = z.strictObject({ connectionId: Id });
export const SuiteServicesInput = z.strictObject({
  connectionId: Id,
  /** Services that are not named stay unchanged. */
  services: BoundedRecord(z.record(ServiceName, z.boolean()), { noun: 'services', least: 0, most: MAX_SERVICES }),
});
export const SuiteAccount = z.strictObject({
  connection_id: Id,
  name: z.string(),
  status: z.enum(connectionStatuses),
  account: AnyObject,
  services: z.array(Service.extend({ granted: z.boolean(), enabled: z.boolean() })),
});
