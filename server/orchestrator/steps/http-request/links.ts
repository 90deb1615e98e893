/** The maximum number of links read from a `Link` header: a server that sends more does not describe pages. */
const MAX_LINKS = 20;

/**
 * Returns the targets of a `Link` header (RFC 8288) by relation, such as `{next: "https://…"}`. Malformed links are
 * left out.
 */
export function linksOf(header: string | undefined): Record<string, string> {
  const links = new Map<string, string>();
  // Each character is looked at once: the target up to ">", then parameters up to the next "<".
  const entries = (header ?? '').split('<').slice(1, MAX_LINKS + 1);
  for (const entry of entries) {
    const end = entry.indexOf('>');
    if (end === -1) continue;
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(entry.slice(end + 1));
    for (const name of (relation?.[1] ?? relation?.[2] ?? '').toLowerCase().split(/\s+/)) {
      if (name !== '' && !links.has(name)) links.set(name, entry.slice(0, end));
    }
  }
  return Object.fromEntries(links);
}
