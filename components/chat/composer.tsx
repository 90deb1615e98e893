'use client';
import { ArrowUp, Square } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Textarea } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
import { MentionList } from './mention-list.tsx';
import { useMentions } from './use-mentions.ts';

type Props = {
  /** Sends a message. The typed text is kept until this succeeds. */
  onSend: (text: string) => Promise<unknown>;
  /** Whether an answer is being written, so that a new message is queued. */
  isBusy?: boolean;
  onStop?: (() => void) | undefined;
  disabled?: boolean;
  label?: string;
  initial?: string;
  action?: string;
  onCancel?: (() => void) | undefined;
};

/** The field for the next message. Enter sends, Shift+Enter inserts a line break, and @ mentions. */
export function Composer(props: Props) {
  const { onSend, isBusy = false, onStop, disabled = false, label = 'Message', initial = '', onCancel } = props;
  const [text, setText] = useState(initial);
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const form = useRef<HTMLFormElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const mentions = useMentions(field, setText);
  const canSend = text.trim() !== '' && !pending && !disabled;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!canSend) return;
    setPending(true);
    setError(null);
    try {
      await onSend(text);
      setText('');
    } catch (failure) {
      setError(failure);
    } finally {
      setPending(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (mentions.onKey(event)) return;
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    form.current?.requestSubmit();
  };
  return (
    <form ref={form} onSubmit={event => void submit(event)} className="flex flex-col gap-2">
      <FormError error={error} />
      <div className="relative">
        {mentions.isOpen ? <MentionList {...mentions.list} /> : null}
        <p role="status" className="sr-only">
          {mentions.isOpen ? `${mentions.list.entries.length} to mention: choose with the arrow keys and Enter` : ''}
        </p>
        <Textarea
          ref={field}
          aria-label={label}
          placeholder={isBusy ? 'Your next message is sent after this answer' : 'Write a message, @ to mention'}
          rows={2}
          autoFocus
          maxLength={100_000}
          value={text}
          disabled={disabled}
          onChange={({ target }) => {
            setText(target.value);
            mentions.onText(target.value, target.selectionStart);
          }}
          onKeyDown={onKeyDown}
          onBlur={mentions.close}
          className="max-h-60"
          {...mentions.aria}
        />
      </div>
      <div className="flex items-center justify-end gap-2">
        {onCancel ? (
          <Button size="sm" type="button" onClick={onCancel}>
            Cancel
          </Button>
        ) : null}
        {isBusy && onStop ? (
          <Button size="sm" type="button" icon={<Square aria-hidden className="size-3" />} onClick={onStop}>
            Stop
          </Button>
        ) : null}
        <Button
          size="sm"
          type="submit"
          variant="primary"
          icon={<ArrowUp aria-hidden className="size-3.5" />}
          disabled={!canSend}
          pending={pending}
        >
          {props.action ?? (isBusy ? 'Queue' : 'Send')}
        </Button>
      </div>
    </form>
  );
}
