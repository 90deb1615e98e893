'use client';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { FieldMessages } from '../field-message.tsx';
import { GroupEditor } from './group-editor.tsx';
import { keptText, readKept } from './kept-rules.ts';
import { readRules } from './read-rules.ts';
import { emptyRule, printRules, type RuleGroup } from './rules.ts';
import { useFieldChoices } from './use-field-choices.ts';

type View = 'builder' | 'expression';
/** The default expression of a new condition. */
const ALWAYS = 'true';

/** The form of a condition: rules, or the equivalent expression. Only the expression is saved. */
export function ConditionForm(props: StepFormProps) {
  const { step, set, draw, problemOf, readOnly, loop, unfinished } = props;
  const stored = typeof step.expression === 'string' ? step.expression : '';
  // A new condition starts without rules.
  const text = stored === ALWAYS ? '' : stored;
  const key = [...loop, step.id, 'rules'].join('.');
  const [typed, setTyped] = useState<RuleGroup | null>(() => readKept(unfinished.get(key), text));
  const read = readRules(text);
  // The expression does not contain unfinished rules. They are kept while the expression equals the finished rules.
  const rules = typed !== null && printRules(typed) === text ? typed : read;
  const [view, setView] = useState<View>('reason' in read ? 'expression' : 'builder');
  const changeRules = (next: RuleGroup) => {
    setTyped(next);
    const kept = keptText(next);
    if (kept === null) unfinished.delete(key);
    else unfinished.set(key, kept);
    const expression = printRules(next);
    if (expression !== text) set({ expression });
  };
  const showsMessage = step.mode === 'validate' || step.message !== undefined;
  return (
    <>
      <section aria-label="Condition" className="flex flex-col gap-2">
        <div className="flex items-center justify-between gap-2">
          <h3 className="text-sm font-medium">Condition</h3>
          <ViewSwitch view={view} onChange={setView} />
        </div>
        {view === 'expression' ? (
          draw('expression')
        ) : 'reason' in rules ? (
          <NoBuilder reason={rules.reason} text={text} onShow={() => setView('expression')} />
        ) : (
          <Builder {...props} rules={rules} changeRules={changeRules} readOnly={readOnly} />
        )}
        {view === 'builder' ? <FieldMessages of={problemOf} names={['expression']} /> : null}
      </section>
      {draw('mode')}
      {showsMessage ? draw('message') : <FieldMessages of={problemOf} names={['message']} />}
      <FieldMessages of={problemOf} names={['then', 'else']} />
    </>
  );
}

function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <fieldset className="flex rounded-md border p-0.5">
      <legend className="sr-only">Edit as</legend>
      {(['builder', 'expression'] as const).map(each => (
        <Button
          key={each}
          size="sm"
          variant="ghost"
          aria-pressed={view === each}
          className={view === each ? 'h-6 bg-active text-text' : 'h-6'}
          onClick={() => onChange(each)}
        >
          {each === 'builder' ? 'Builder' : 'Expression'}
        </Button>
      ))}
    </fieldset>
  );
}

function NoBuilder({ reason, text, onShow }: { reason: 'richer' | 'unfinished'; text: string; onShow: () => void }) {
  return (
    <div className="flex flex-col gap-2 rounded-md border bg-sunken p-3 text-sm">
      <p>
        {reason === 'richer'
          ? 'This expression is richer than the builder.'
          : 'Finish the expression to use the builder.'}
      </p>
      <pre className="font-mono text-xs whitespace-pre-wrap wrap-anywhere text-muted">{text}</pre>
      <Button size="sm" className="self-start" onClick={onShow}>
        Edit the expression
      </Button>
    </div>
  );
}

type BuilderProps = Pick<StepFormProps, 'step' | 'readOnly'> & {
  rules: RuleGroup;
  changeRules: (rules: RuleGroup) => void;
};

function Builder({ step, readOnly, rules, changeRules }: BuilderProps) {
  const fields = useFieldChoices(step.id);
  // An empty condition starts with one empty rule.
  const shown = rules.rules.length === 0 && !readOnly ? { ...rules, rules: [emptyRule()] } : rules;
  return (
    <GroupEditor
      group={shown}
      depth={1}
      path={[]}
      onChange={changeRules}
      onRemove={null}
      context={{ ...fields, readOnly }}
    />
  );
}
