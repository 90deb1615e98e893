import type { ServerDetail } from './auth-modes.ts';

type Diff = NonNullable<ServerDetail['discovered']>['diff'];

function isEmptyDiff({ added, removed, changed }: Diff): boolean {
  return added.length + removed.length + changed.length === 0;
}

/** The tools that were added, removed and changed since the previous version. */
export function CatalogDiff({ diff }: { diff: Diff }) {
  const since = diff.previous_version === null ? 'nothing published yet' : `version ${diff.previous_version}`;
  if (isEmptyDiff(diff)) return <p className="text-sm text-muted">The same tools as in {since}.</p>;
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p className="text-muted">Compared with {since}:</p>
      <Names label="Added" sign="+" names={diff.added} className="text-ok" />
      <Names label="Removed" sign="−" names={diff.removed} className="text-bad" />
      <Names
        label="Changed"
        sign="~"
        names={diff.changed.map(({ name, fields }) => `${name} (${fields.join(', ').replaceAll('_', ' ')})`)}
        className="text-warn"
      />
    </div>
  );
}

const MAX_NAMES = 30;

function Names({
  label,
  sign,
  names,
  className,
}: {
  label: string;
  sign: string;
  names: readonly string[];
  className: string;
}) {
  if (names.length === 0) return null;
  return (
    <div>
      <p className={`font-medium ${className}`}>
        {sign} {label} ({names.length})
      </p>
      <p className="font-mono text-xs wrap-anywhere text-muted">
        {names.slice(0, MAX_NAMES).join(', ')}
        {names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : null}
      </p>
    </div>
  );
}
