import type { Metadata } from 'next';
import { LinkPasswordForm } from '@/components/auth/link-password-form.tsx';
import { Link } from '@/components/ui/link.tsx';

export const metadata: Metadata = { title: 'Confirm your address' };

export default function ConfirmAddressPage() {
  return (
    <LinkPasswordForm
      title="Confirm your address"
      description={
        <>
          Enter the password that you chose for this account. If you did not choose one, someone else created the
          account:{' '}
          <Link href="/forgot-password" className="text-accent-text underline underline-offset-2">
            set your own password
          </Link>{' '}
          or ignore the email.
        </>
      }
      path="/v1/confirmations"
      action="Confirm address"
      isNew={false}
    />
  );
}
