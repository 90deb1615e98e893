/**
 * Edits of a workflow's draft as data, for the browser and the server. The folder imports nothing from the server.
 *
 *   apply(draft, edit)            the changed draft and the inverse edit, or a problem
 *   diff(a, b)                    the changes, by step and field
 *   merge(base, ours, theirs)     both sides' changes, or the conflicts
 *   choose(base, draft, steps)    only the changes of these steps
 *
 * The edits in regroup.ts are loaded on demand.
 */
export { apply } from './apply.ts';
export { choose } from './choose.ts';
export { type DraftDiff, diff, type FieldChange, type StepChange } from './diff.ts';
export type { Branch, Draft, Edit, Fields, Graph, Json, Note, Restore, Step, Unrewritten } from './draft.ts';
export { identicalJson, STEP_ID, sameJson } from './draft.ts';
export { type Choose, type Conflict, merge, type Side } from './merge.ts';
export { MAX_PINNED_RESULT_BYTES, pinsIn, withoutPin, withPin } from './pins.ts';
export { idsInLoop } from './references.ts';
export { sameDraft } from './restore.ts';
