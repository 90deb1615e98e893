import { z } from 'zod';
import { Id, Timestamp } from '../../../operation/wire.ts';

/** The maximum number of people in one answer. */
export const MAX_EDITORS = 50;
/**
 * An editor counts as open for this long after its last announcement. Announcements come every 15 seconds, and one
 * may be lost.
 */
export const EDITOR_OPEN_MS = 40_000;

const Editor = z.strictObject({ user_id: Id, name: z.string(), at: Timestamp });
export const EditorsOutput = z.strictObject({
  etag: z.string().meta({ description: 'The present state of the draft' }),
  editing: z.array(Editor).max(MAX_EDITORS).meta({
    description: 'Who has the draft open in an editor, with the last time they were seen there, the latest first',
  }),
  saved: z.array(Editor).max(MAX_EDITORS).meta({
    description: 'Who has saved the draft after the state `since`, and when last; empty without `since`',
  }),
});
export const ListEditorsInput = z.strictObject({
  id: Id,
  since: z
    .string()
    .regex(/^"\d{1,9}"$/, 'must be an ETag of the workflow')
    .optional()
    .meta({ description: 'An ETag of the workflow' }),
});
export const AnnounceEditorInput = z.strictObject({
  id: Id,
  editing: z.boolean().default(true).meta({ description: 'false: the editor was left' }),
});
