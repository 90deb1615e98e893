/** Texts of fields that do not parse yet, such as half of a JSON object, by step and field. */
export type UnfinishedFields = {
  get: (id: string) => string | undefined;
  has: (id: string) => boolean;
  set: (id: string, text: string) => void;
  delete: (id: string) => void;
  /** Returns the texts of the draft's fields, without the texts typed for tests. */
  ofDraft: () => [string, string][];
};

/** Returns the unfinished fields of a user in a workflow, kept until the tab is closed. `onChange` is called after each change. */
export function unfinishedFields(user: string, workflowId: string, onChange: () => void): UnfinishedFields {
  const key = `baton:unfinished-fields:${user}:${workflowId}`;
  const texts = new Map<string, string>(readTexts(key));
  const save = () => {
    try {
      if (texts.size === 0) window.sessionStorage.removeItem(key);
      else window.sessionStorage.setItem(key, JSON.stringify([...texts]));
    } catch {
      // The browser has no room or refuses storage: the texts are kept until the page is left.
    }
    onChange();
  };
  return {
    get: id => texts.get(id),
    has: id => texts.has(id),
    set: (id, text) => {
      texts.set(id, text);
      save();
    },
    delete: id => {
      if (texts.delete(id)) save();
    },
    ofDraft: () => [...texts].filter(([id]) => !id.startsWith('test.')),
  };
}

function readTexts(key: string): [string, string][] {
  try {
    const kept: unknown = JSON.parse(window.sessionStorage.getItem(key) ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.filter((entry): entry is [string, string] => {
      return Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'string';
    });
  } catch {
    return [];
  }
}
