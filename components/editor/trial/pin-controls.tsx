'use client';
import { Pin, PinOff } from 'lucide-react';
import type { Json } from '@/server/platform/json.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { stepPath } from '../../ui/json-path.ts';
import { JsonTree } from '../../ui/json-tree.tsx';
import { change } from '../change.ts';
import type { Draft } from '../use-draft.ts';
import { isPinnable, pinsOf, planPin, planUnpin } from './pins.ts';

type StepProps = { draft: Draft; step: string; editable: boolean };

/** Offers to pin the result of a step. Tests of the draft then use the pinned result and do not execute the step. */
export function PinButton({ draft, step, result }: Omit<StepProps, 'editable'> & { result: Json }) {
  const isLarge = !isPinnable(result);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button
        size="sm"
        icon={<Pin aria-hidden className="size-3.5" />}
        disabled={isLarge}
        onClick={() => change(draft.store, [planPin(draft.state.draft, step, result)])}
      >
        Pin result
      </Button>
      <span className="min-w-0 flex-1 text-xs text-muted">
        {isLarge
          ? 'A result of more than 64 KiB cannot be pinned.'
          : 'Tests then use it instead of running the step. It stays in the draft, for everyone who edits it.'}
      </span>
    </div>
  );
}

/** Shows the pinned result of a step, with a button to unpin it. Renders nothing if no result is pinned. */
export function PinnedResult({ draft, step, editable }: StepProps) {
  const pins = pinsOf(draft.state.draft.run_setup);
  if (!Object.hasOwn(pins, step)) return null;
  return (
    <section aria-label="Pinned result" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone="accent" icon={<Pin aria-hidden className="size-3" />}>
          Pinned
        </Badge>
        <span className="text-xs text-muted">Tests use this result. Published versions do not.</span>
        {editable ? (
          <Button
            size="sm"
            variant="ghost"
            className="ml-auto"
            icon={<PinOff aria-hidden className="size-3.5" />}
            onClick={() => change(draft.store, [planUnpin(draft.state.draft, step)])}
          >
            Unpin
          </Button>
        ) : null}
      </div>
      <JsonTree label="Pinned value" value={pins[step] ?? null} root={stepPath(step, 'result')} />
    </section>
  );
}
