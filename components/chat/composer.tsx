'use client';
import { ArrowUp, Square } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Textarea } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';

type Props = {
  /** Sends a message; what was typed stays until that has succeeded. */
  onSend: (text: string) => Promise<unknown>;
  /** Whether an answer is being written: a message then waits for its end. */
  isBusy?: boolean;
  onStop?: (() => void) | undefined;
  disabled?: boolean;
  label?: string;
  initial?: string;
  action?: string;
  onCancel?: (() => void) | undefined;
};

/** The field for the next message. Enter sends; Shift and Enter begin a line. */
export function Composer(props: Props) {
  const { onSend, isBusy = false, onStop, disabled = false, label = 'Message', initial = '', onCancel } = props;
  const [text, setText] = useState(initial);
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const form = useRef<HTMLFormElement>(null);
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
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    form.current?.requestSubmit();
  };
  return (
    <form ref={form} onSubmit={event => void submit(event)} className="flex flex-col gap-2">
      <FormError error={error} />
      <Textarea
        aria-label={label}
        placeholder={isBusy ? 'The next message waits for the end of the answer' : 'Write a message'}
        rows={2}
        autoFocus
        maxLength={100_000}
        value={text}
        disabled={disabled}
        onChange={event => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className="max-h-60"
      />
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
