/** The views that the page of a run shows on demand, as one piece of JavaScript. */
export { EventList } from './event-list.tsx';
export { RunComparison } from './run-comparison.tsx';
export { RunOutput } from './run-output.tsx';
export { RunTimeline } from './run-timeline.tsx';
export { RunInput } from './run-values.tsx';
export { StepInspector } from './step-inspector.tsx';
