import { Credits } from '../ui/credits.tsx';
import type { Placed } from './branches.ts';

/** Shows the tokens and credits that the answers on the shown branch have used so far. */
export function ThreadCost({ branch }: { branch: readonly Placed[] }) {
  const known = branch.flatMap(({ message }) => message.metadata.usage ?? []);
  if (known.length === 0) return null;
  const tokens = known.reduce((sum, { input_tokens, output_tokens }) => sum + input_tokens + output_tokens, 0);
  const credits = known.reduce((sum, { credits_microcredits }) => sum + credits_microcredits, 0);
  return (
    <p className="text-xs text-muted tabular-nums">
      So far: {tokens.toLocaleString('en')} tokens, <Credits unit value={credits} />
    </p>
  );
}
