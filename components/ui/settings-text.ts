import { parseJson } from '@/server/platform/json-text.ts';

export type SettingsRead = { settings: Record<string, never> } | { problem: string };

const examples = { connection: '{"base_url": "https://…"}', instance: '{"default_args": {"limit": 10}}' } as const;

/** Parses settings from text: a JSON object, or an empty text. */
export function readSettings(text: string, kind: keyof typeof examples): SettingsRead {
  if (text.trim() === '') return { settings: {} };
  try {
    const value: unknown = parseJson(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { problem: `The settings must be a JSON object, such as ${examples[kind]}.` };
    }
    // The server validates the content. tRPC's type of any JSON object is too wide to be written here.
    return { settings: value as Record<string, never> };
  } catch (error) {
    return { problem: `The settings are not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Formats settings as text; empty settings become an empty text. */
export function writeSettings(settings: object): string {
  return Object.keys(settings).length === 0 ? '' : JSON.stringify(settings, null, 2);
}
