import { MissingPage } from '../missing-page.tsx';

export default MissingPage;
