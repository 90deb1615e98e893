import { Blocks } from 'lucide-react';
import { Card } from '../ui/card.tsx';
import { EmptyState } from '../ui/states.tsx';

export function NoRole() {
  return (
    <Card>
      <EmptyState icon={Blocks} title="MCP servers need the contributor role">
        Ask an admin of the workspace to change your role on this project.
      </EmptyState>
    </Card>
  );
}
