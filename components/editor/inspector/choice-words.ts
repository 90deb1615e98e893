import type { SelectOption } from '../../ui/select.tsx';
import type { StepField } from '../step-fields.ts';

type Words = { defaultChoice: string; words: Readonly<Record<string, string>> };

/** The labels of choices and the default choice, by field name. */
const CHOICES: Readonly<Record<string, Words>> = {
  mode: {
    defaultChoice: 'branch',
    words: { branch: 'Take one of two branches', validate: 'Stop with an error unless it is true' },
  },
  on_error: { defaultChoice: 'fail', words: { fail: 'The run fails', continue: 'The next steps run' } },
  on_item_error: { defaultChoice: 'fail', words: { fail: 'The loop fails', continue: 'The other items go on' } },
  on_limit: { defaultChoice: 'answer', words: { answer: 'It gives a closing answer', fail: 'The step fails' } },
  on_lost: { defaultChoice: 'retry', words: { retry: 'The call is made again', ask: 'A person decides' } },
  on_timeout: {
    defaultChoice: 'fail',
    words: { fail: 'The step fails', approve: 'It counts as approved', reject: 'It counts as rejected' },
  },
  response: {
    defaultChoice: 'auto',
    words: { auto: 'By its content type', json: 'As JSON', text: 'As text', bytes: 'As base64' },
  },
};

/** Returns the labeled choices of a field. The first choice of an optional field names the default. */
export function choiceOptions(name: string, choices: readonly string[], required: boolean): SelectOption<string>[] {
  const known = Object.hasOwn(CHOICES, name) ? CHOICES[name] : undefined;
  const wordOf = (choice: string) => known?.words[choice] ?? choice;
  const defaultLabel =
    known !== undefined && choices.includes(known.defaultChoice)
      ? `Default: ${wordOf(known.defaultChoice)}`
      : 'Default';
  return [
    ...(required ? [] : [{ value: '', label: defaultLabel }]),
    ...choices.map(choice => ({ value: choice, label: wordOf(choice) })),
  ];
}

/** Returns the explanation of a choice; undefined if its label says everything. */
export function choiceHint({ name, hint }: Pick<StepField, 'name' | 'hint'>): string | undefined {
  if (!Object.hasOwn(CHOICES, name)) return hint;
  return name === 'on_lost' ? 'If Baton stops during the call, it cannot know whether the call happened.' : undefined;
}
