import { splitMentions } from '@/server/operation/mentions.ts';
import { Link } from '../ui/link.tsx';

/** Shows a person's text as it was written, with each mention as a link to its page. */
export function MentionsText({ text }: { text: string }) {
  return splitMentions(text).map((piece, index) =>
    typeof piece === 'string' ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece is identified by its position
      <Link key={index} href={piece.href} className="text-accent-text underline underline-offset-2">
        @{piece.name}
      </Link>
    ),
  );
}
