export { Bell, BrainCircuit, CircleUser, FolderKanban, History, KeyRound, ScrollText, Users } from 'lucide-react';
