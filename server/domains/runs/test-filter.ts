/**
 * Returns an SQL condition on runs `r`: only test runs, or no test runs. With `reruns`, the only test runs are those
 * that repeat another run.
 */
export function testFilter(test: boolean | 'reruns'): string {
  if (test === 'reruns') return '(r.version > 0 OR r.rerun_of IS NOT NULL)';
  return test ? 'r.version < 0' : 'r.version > 0';
}
