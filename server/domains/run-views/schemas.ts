import { z } from 'zod';
import { Id, NameText, PlainText, Timestamp } from '../../operation/wire.ts';
import { ListTenantRunsInput } from '../runs/reading/schemas.ts';

/** The maximum number of views of a person in a project. */
export const MAX_VIEWS = 50;

const { q, field, status, workflow_id, from, to, test } = ListTenantRunsInput.shape;
/** The filters of `GET /v1/runs`. */
const Filters = z.strictObject({ q, field, status, workflow_id, from, to, test });
const Columns = z.array(PlainText(100).min(1)).max(60).meta({ description: 'The names of the columns that are shown' });
const Name = NameText(80);
const isShared = z.boolean().meta({ description: 'Shared with the project: its contributors may change it' });
const isDefault = z.boolean().meta({ description: 'The list of the project opens with it, for the caller' });

export const RunView = z.strictObject({
  id: Id,
  name: z.string(),
  shared: z.boolean(),
  filters: z.record(z.string(), z.string()),
  columns: z.array(z.string()),
  /** Whether the view is the caller's own. */
  own: z.boolean(),
  default: z.boolean(),
  updated_at: Timestamp,
});
export const ListViewsInput = z.strictObject({});
export const ListViewsOutput = z.strictObject({ views: z.array(RunView) });
export const SaveViewInput = z.strictObject({
  name: Name,
  filters: Filters,
  columns: Columns.default([]),
  shared: isShared.default(false),
  default: isDefault.default(false),
});
export const ViewRef = z.strictObject({ view_id: Id });
export const PatchViewInput = ViewRef.extend({
  name: Name.optional(),
  filters: Filters.optional(),
  columns: Columns.optional(),
  shared: isShared.optional(),
  default: isDefault.optional(),
});
