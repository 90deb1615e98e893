import { notFound } from 'next/navigation';

/** Matches every path without a page. */
export default function UnknownPath(): never {
  notFound();
}
