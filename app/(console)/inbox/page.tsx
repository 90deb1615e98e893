import { ChooseTask } from '@/components/inbox/choose-task.tsx';

export default function InboxPage() {
  return <ChooseTask />;
}
