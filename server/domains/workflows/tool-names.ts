/** The number of digits of the workflow's id that make a name unique. The last digits of a UUIDv7 are random. */
const ID_DIGITS = 12;
const MAX_BASE_LENGTH = 50;
/** Names of this form are reserved for workflows that share a name with another tool. */
const WITH_ID = new RegExp(`_[0-9a-f]{${ID_DIGITS}}$`);

/**
 * Returns the names of tools by the ids of their workflows; all names differ. If two workflows have the same name, or
 * the name is in `taken`, each of them gets a name with the end of its id. So no workflow can take over the calls of
 * another one by its name.
 */
export function distinctNames(
  wanted: readonly { id: string; name: string }[],
  taken: ReadonlySet<string> = new Set(),
): Map<string, string> {
  const counts = new Map<string, number>();
  for (const { name } of wanted) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(
    wanted.map(({ id, name }) => {
      const isItsOwn = counts.get(name) === 1 && !taken.has(name) && !WITH_ID.test(name);
      return [id, isItsOwn ? name : `${name.slice(0, MAX_BASE_LENGTH)}_${id.replaceAll('-', '').slice(-ID_DIGITS)}`];
    }),
  );
}
