import { Numbers } from './numbers.jsx';

export default function Page() {
  return (
    <>
      <h1>Numbers</h1>
      <Numbers />
    </>
  );
}
