import { type FormEvent, useState } from 'react';
import { type FieldText, readFields } from '../ui/read-fields.ts';
import { signInWithPassword } from './sign-in.ts';

/**
 * Submits a form with a password and signs in. `send` posts the fields and returns the account's email; its error becomes the form's error.
 * Returns the state of the form and its `onSubmit`.
 */
export function useSignInSubmit(send: (text: FieldText, password: string) => Promise<string>) {
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (form: HTMLFormElement) => {
    // The password is not trimmed: a trailing space is part of it.
    const password = String(new FormData(form).get('password') ?? '');
    setPending(true);
    setError(null);
    try {
      const failed = await signInWithPassword(await send(readFields(form), password), password);
      window.location.assign(failed === null ? '/' : '/sign-in');
    } catch (thrown) {
      setError(thrown);
      setPending(false);
    }
  };
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void submit(event.currentTarget);
  };
  return { pending, error, onSubmit };
}
