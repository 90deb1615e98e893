import type { Services } from '../../../operation/services.ts';
import type { FlowOptions, FlowServices } from './flow.ts';

/** A sign-in or sign-out, for the audit log of a workspace. */
export type SignOnRecord = {
  tenantId: string;
  userId: string;
  /** `access_ended`: the issuer no longer lets the person sign in. */
  operation: 'sign_in' | 'sign_out' | 'access_ended';
  outcome: string;
  address: string | null;
};
export type RecordSignOn = (record: SignOnRecord) => Promise<void>;

/** The parts of single sign-on. `flow` are the services with which the issuer is called. */
export type Parts = FlowOptions & { services: Services; record: RecordSignOn; flow: FlowServices };
