//! How far an opinion is to be trusted: a logistic regression on what came of earlier opinions, by Newton's method.

/// Fits weights (the constant last) so that the weighed evidence is the log-odds of being right. Rows are evidence, whether
/// it was right, and how much the row counts.
pub(crate) fn fit<const N: usize>(rows: &[([f32; N], bool, f32)], start: &[f32]) -> Vec<f32> {
    let size = N + 1;
    let mut weights: Vec<f64> = start.iter().map(|weight| f64::from(*weight)).collect();
    weights.resize(size, 0.0);
    for _ in 0..12 {
        let mut slope = vec![0.0; size];
        let mut curve = vec![vec![0.0; size]; size];
        for (evidence, right, counts) in rows {
            let row: Vec<f64> = evidence.iter().map(|value| f64::from(*value)).chain([1.0]).collect();
            let odds: f64 = row.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
            let chance = 1.0 / (1.0 + (-odds).exp());
            let counts = f64::from(*counts);
            let miss = counts * (f64::from(u8::from(*right)) - chance);
            let spread = counts * (chance * (1.0 - chance)).max(1e-6);
            for (at, value) in row.iter().enumerate() {
                slope[at] += miss * value;
                for (to, other) in row.iter().enumerate().skip(at) {
                    curve[at][to] += spread * value * other;
                }
            }
        }
        for at in 0..size {
            // A little pull towards zero keeps the answer finite when everything was right.
            let pull = if at == N { 1e-3 } else { RIDGE };
            slope[at] -= pull * weights[at];
            curve[at][at] += pull;
            let (above, below) = curve.split_at_mut(at);
            for (value, row) in below[0].iter_mut().zip(above) {
                *value = row[at];
            }
        }
        let Some(step) = solve(curve, slope) else { break };
        let longest = step.iter().fold(0.0_f64, |most, part| most.max(part.abs()));
        let scale = if longest > 4.0 { 4.0 / longest } else { 1.0 };
        for (weight, part) in weights.iter_mut().zip(&step) {
            *weight += part * scale;
        }
        if longest < 1e-4 {
            break;
        }
    }
    weights.into_iter().map(|weight| weight as f32).collect()
}

const RIDGE: f64 = 0.5;

/// Gauss with pivots. `None` when there is no single answer.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for column in 0..size {
        let pivot =
            (column..size).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-12 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let (above, below) = matrix.split_at_mut(column + 1);
        let lead = &above[column];
        for (row, part) in below.iter_mut().zip(column + 1..) {
            let factor = row[column] / lead[column];
            for (value, top) in row.iter_mut().zip(lead).skip(column) {
                *value -= factor * top;
            }
            right[part] -= factor * right[column];
        }
    }
    for column in (0..size).rev() {
        let known: f64 = (column + 1..size).map(|to| matrix[column][to] * right[to]).sum();
        right[column] = (right[column] - known) / matrix[column][column];
    }
    Some(right)
}
