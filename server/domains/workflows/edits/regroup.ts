/** Edits that move steps into a loop or another workflow, and back. Like index.ts, this imports nothing from the server. */
export { extractWorkflow, inlineWorkflow } from './extract.ts';
export { dissolveLoop, groupIntoLoop, type Regrouping } from './group.ts';
