import { notFound } from 'next/navigation';

/** Every path that is no page. */
export default function UnknownPath(): never {
  notFound();
}
