/** The views that the page of a run loads on demand, as one chunk of JavaScript. */
export { EventsView } from './events-view.tsx';
export { RunComparison } from './run-comparison.tsx';
export { RunOutput } from './run-output.tsx';
export { RunInput } from './run-values.tsx';
export { StepInspector } from './step-inspector.tsx';
export { TimelineView } from './timeline-view.tsx';
