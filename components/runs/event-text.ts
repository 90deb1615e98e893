import type { WireEvent } from '@/server/domains/runs/reading/run-state.ts';
import type { NameOf } from '../ui/json-tree.tsx';

/** Returns an event in a few words: the change, or the beginning of the event's data. `nameOf` returns the name of a run or workflow. */
export function eventInWords(event: WireEvent, nameOf: NameOf): string {
  const data = event.data;
  const named = (field: string) => nameOf(String(data[field]), field);
  const error = data.error as { message?: string } | undefined;
  switch (event.event_type) {
    case 'state_changed':
      return `${String(data.from)} → ${String(data.to)}${reasonOf(data, error?.message)}`;
    case 'step_completed':
      return data.skipped === true ? `skipped: ${String(data.reason)}` : preview(data.result ?? data.result_ref);
    case 'step_failed':
      return error?.message ?? '';
    case 'step_retrying':
      return `${error?.message ?? ''} (next attempt in ${Math.round(Number(data.delay_ms) / 100) / 10} s)`;
    case 'step_started':
      return event.attempt !== undefined && event.attempt > 1 ? `attempt ${event.attempt}` : '';
    case 'child_called':
      return `${named('workflow_id') ?? named('run_id')}, version ${String(data.version)}`;
    case 'child_ended':
      return `${named('run_id')}: ${String(data.status)}`;
    case 'step_log':
      return Array.isArray(data.lines) ? data.lines.join(' ⏎ ') : '';
    default:
      return preview(data);
  }
}

/** The error's message, or the code of the engine's reason. */
function reasonOf(data: WireEvent['data'], message: string | undefined): string {
  const reason = message ?? (typeof data.reason === 'string' ? data.reason.replaceAll('_', ' ') : '');
  return reason ? `: ${reason}` : '';
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
