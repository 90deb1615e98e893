/**
 * Returns the condition of test runs alone, or of none; with `reruns`, of none but those that repeat another run. For runs
 * `r`.
 */
export function testFilter(test: boolean | 'reruns'): string {
  if (test === 'reruns') return '(r.version > 0 OR r.rerun_of IS NOT NULL)';
  return test ? 'r.version < 0' : 'r.version > 0';
}
