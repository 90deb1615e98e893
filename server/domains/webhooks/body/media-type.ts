import { AppError } from '../../../platform/errors.ts';

/** The format in which a body is read. `guess`: the type does not tell the format, so the first character decides. */
export type Format = 'json' | 'form' | 'text' | 'guess';

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;
const JSON_TYPE = /^(?:application|text)\/(?:x-)?json$|\+json$/;
const TEXT_TYPE = /^text\/|[/+](?:xml|yaml)$|^application\/(?:x-yaml|graphql|(?:x-)?ndjson|jsonl|jwt|toml|sql)$/;

/** Returns the format of a body with this Content-Type. Throws AppError 415. */
export function formatOf(contentType: string | undefined): Format {
  const media = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (media === '' || media === 'application/octet-stream') return 'guess';
  if (JSON_TYPE.test(media)) return 'json';
  if (media === 'application/x-www-form-urlencoded') return 'form';
  if (!MEDIA_TYPE.test(media)) throw unsupported('The Content-Type is not a media type such as application/json.');
  if (TEXT_TYPE.test(media)) return 'text';
  throw unsupported(
    `The Content-Type ${media} is not accepted: send application/json, another type of JSON, a form (application/x-www-form-urlencoded), text or XML.`,
  );
}

/** Returns the charset that a Content-Type names; undefined if it names none. */
export function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*(?:"([^"]{1,40})"|([^\s;"]{1,40}))/i
    .exec(contentType ?? '')
    ?.slice(1)
    .find(Boolean);
}

export const unsupported = (message: string) => new AppError(415, 'unsupported_media_type', message);
