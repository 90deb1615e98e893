import { operation } from '../../operation/operation.ts';
import { Nothing } from '../identity/schemas.ts';
import { listMyDeliveries } from './list.ts';
import { getPreferences, patchPreferences } from './preferences.ts';
import * as schema from './schemas.ts';
import { testChannel } from './test-channel.ts';

const tag = 'Notifications';
const everyScope = 'A personal access token must carry every scope for this, because an account has every scope.';

/** The operations on a person's own notifications in a workspace. */
export const notificationOperations = [
  operation({
    name: 'me_notifications_get',
    method: 'GET',
    path: '/v1/me/notifications',
    status: 200,
    tag,
    summary: 'Get your notification preferences: kinds and channels',
    access: 'member',
    scope: 'workflow:read',
    input: Nothing,
    output: schema.NotificationPreferences,
    run: getPreferences,
  }),
  operation({
    name: 'me_notifications_patch',
    method: 'PATCH',
    path: '/v1/me/notifications',
    status: 200,
    tag,
    summary: 'Change your notification preferences: kinds and channels',
    description: `\`task_waiting\`: a task waits that you may answer. \`run_failed\`: a run failed of a workflow that you created or last
published. Test runs send no notifications. A new webhook_url is answered with a new \`webhook_secret\`, once: requests are signed with it like deliveries to an
inbound webhook. ${everyScope}`,
    access: 'member',
    scope: 'pat:manage',
    input: schema.PatchPreferencesInput,
    output: schema.PatchPreferencesOutput,
    errors: [503],
    run: patchPreferences,
  }),
  operation({
    name: 'me_notifications_test',
    method: 'POST',
    path: '/v1/me/notifications/test',
    status: 200,
    tag,
    summary: 'Send yourself a test notification',
    description: `At most ten an hour. ${everyScope}`,
    access: 'member',
    scope: 'pat:manage',
    input: schema.TestChannelInput,
    output: schema.TestChannelOutput,
    errors: [503],
    run: testChannel,
  }),
  operation({
    name: 'me_notifications_deliveries_list',
    method: 'GET',
    path: '/v1/me/notifications/deliveries',
    status: 200,
    tag,
    summary: 'List your notifications, newest first',
    description: 'Of the whole workspace, by all channels or one, with their attempts and why the last one failed.',
    access: 'member',
    scope: 'workflow:read',
    input: schema.ListDeliveriesInput,
    output: schema.ListDeliveriesOutput,
    run: listMyDeliveries,
  }),
] as const;
