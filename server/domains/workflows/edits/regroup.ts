/** Edits that put steps into a loop or a workflow of their own, and take them out again. Pure, as the others (index.ts). */
export { extractWorkflow, inlineWorkflow } from './extract.ts';
export { dissolveLoop, groupIntoLoop, type Regrouping } from './group.ts';
