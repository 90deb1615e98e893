/**
 * Returns the SQL of a recursive table `steps`: the steps that `outer` selects, each as json, and at any depth the steps in their loops.
 * `columns`: the columns before the step. `ofInner`: the columns for the steps in a loop, read from the row of the loop; default: the same.
 */
export const withInnerSteps = (outer: string, columns: readonly string[] = [], ofInner = columns): string => `
  WITH RECURSIVE steps(${[...columns, 'step'].join(', ')}) AS (
    ${outer}
    UNION ALL
    SELECT ${[...ofInner, `json_array_elements(step->'steps')`].join(', ')} FROM steps
     WHERE step->>'type' = 'for_each' AND json_typeof(step->'steps') = 'array')`;
