import { operation } from '../../operation/operation.ts';
import { confirmAddress } from './confirmation.ts';
import { requestPasswordReset, resetPassword } from './password-reset.ts';
import * as schema from './schemas.ts';

/** The operations behind the links of an account; they need no session. */
export const accountOperations = [
  operation({
    name: 'addresses_confirm',
    method: 'POST',
    path: '/v1/confirmations',
    status: 200,
    tag: 'Identity',
    summary: 'Confirm the address of an account, with a mailed link and its password',
    description:
      'The token is the part of the link after `#token=`. Every other account with the address is replaced by the confirmed one, which gets its memberships.',
    access: 'public',
    feature: 'mail',
    input: schema.ConfirmAddressInput,
    output: schema.ConfirmAddressOutput,
    errors: [403, 404],
    run: confirmAddress,
  }),
  operation({
    name: 'password_resets_request',
    method: 'POST',
    path: '/v1/password-resets',
    status: 204,
    tag: 'Identity',
    summary: 'Mail a link that resets the password, if the address has an account',
    description:
      'Available if the deployment sends mail. The answer does not reveal whether the address has an account.',
    access: 'public',
    feature: 'mail',
    input: schema.RequestPasswordResetInput,
    output: schema.NoContent,
    run: requestPasswordReset,
  }),
  operation({
    name: 'password_resets_complete',
    method: 'POST',
    path: '/v1/password-resets/complete',
    status: 200,
    tag: 'Identity',
    summary: 'Set a new password with a link',
    description:
      'The link was mailed, or came from the operator; its token is the part after `#token=`. Confirms the address and ends all sessions of the account.',
    access: 'public',
    input: schema.ResetPasswordInput,
    output: schema.ResetPasswordOutput,
    errors: [404],
    run: resetPassword,
  }),
] as const;
