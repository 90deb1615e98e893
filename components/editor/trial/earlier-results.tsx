'use client';
import { Pin } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { stepPath } from '../../ui/json-path.ts';
import { JsonTree } from '../../ui/json-tree.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import type { EarlierResult } from './earlier.ts';
import { TestData } from './test-data.tsx';
import type { useStepTest } from './use-step-test.ts';

type Props = { earlier: ReturnType<typeof useStepTest>['earlier'] };

/** Shows the results of the earlier steps that a test uses: as trees with their sources, or as one JSON text to edit. */
export function EarlierResults({ earlier }: Props) {
  const { isTyped, text } = earlier;
  const [asJson, setAsJson] = useState(isTyped);
  // The text before the user typed. It is constant during typing, so that the editor stays mounted; before that, it
  // follows the loaded results.
  const [base, setBase] = useState(text);
  if (!isTyped && base !== text) setBase(text);
  if (earlier.earlier.length === 0) return null;
  return (
    <section aria-label="Results of earlier steps" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="text-sm font-medium">Results of earlier steps</h3>
        {isTyped ? (
          <Button size="sm" variant="ghost" onClick={() => earlier.type(null)}>
            Use the last results
          </Button>
        ) : null}
      </div>
      <Checkbox label="Edit as JSON" checked={asJson} onCheckedChange={setAsJson} />
      {asJson ? (
        <TestData
          label="Results of earlier steps"
          hint="Keyed by step ID. The result of a step that is left out is null."
          data={{ text, set: earlier.type, problem: earlier.problem }}
          revision={base}
          isTitled
        />
      ) : (
        <ul className="flex flex-col gap-3">
          {earlier.earlier.map(each => (
            <li key={each.id} className="flex flex-col gap-1">
              <Result earlier={each} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Result({ earlier }: { earlier: EarlierResult }) {
  const { id, name, source, result, isLarge } = earlier;
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2 text-xs">
        <span className="min-w-0 truncate font-medium">{name}</span>
        <Source earlier={earlier} />
      </p>
      {source === 'none' ? null : isLarge ? (
        <p className="text-xs text-muted">Too large to show here{source === 'run' ? ', but used.' : '.'}</p>
      ) : (
        <JsonTree
          label={`Result of ${name}`}
          value={result}
          root={stepPath(id, 'result')}
          open={1}
          className="max-h-60"
        />
      )}
    </>
  );
}

function Source({ earlier: { source, at, isTest } }: { earlier: EarlierResult }) {
  switch (source) {
    case 'pinned':
      return (
        <Badge tone="accent" icon={<Pin aria-hidden className="size-3" />}>
          Pinned
        </Badge>
      );
    case 'typed':
      return <span className="text-muted">Typed</span>;
    case 'run':
      return <span className="text-muted">From the chosen run</span>;
    case 'last':
      return (
        <span className="text-muted">
          {isTest ? 'Last test' : 'Last run'}
          {at === null ? null : (
            <>
              , <RelativeTime at={at} />
            </>
          )}
        </span>
      );
    case 'none':
      return <span className="text-muted">No result yet: read as null</span>;
  }
}
