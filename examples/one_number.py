"""One private number: the mean age of a survey, released once."""

import inbounds as ib
from inbounds.data import load_anes96

ages = load_anes96()["age"]  # private: the ages of 944 people

# One person's age may change anywhere within 0 to 120: the mean then moves by at most 120/944.
m = ib.calibrate(ib.Box(0, 120), 120 / len(ages), epsilon=1.0)
output = m.release(ages.mean())
low, high = m.confidence(output, 0.95)

print(m)
print(f"private mean     {output:.2f} (always between 0 and 120)")
print(f"95 % confidence  {low:.2f} to {high:.2f}")
print(f"standard error   {m.mse(60) ** 0.5:.2f}")
print(f"pure epsilon     {m.epsilon:.6f}")
