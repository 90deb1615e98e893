/** The heading of the operations on runs in the documents of the API. */
export const RUNS = 'Runs';
